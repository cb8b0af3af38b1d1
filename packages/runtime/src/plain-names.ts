/** Prepares user-provided names and messages for emails to other people. */

/**
 * Matches line breaks and other control characters. In an email, the text after them could look like a line that
 * Millrace wrote.
 */
const controlCharacters = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const lineBreak = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/** Returns whether a name is a single line without `://`, which mail programs convert to a link. */
export function isPlainName(name: string): boolean {
  return toPlainName(name) === name;
}

/** Converts a name that was not validated to a single line without `://`. */
export function toPlainName(name: string): string {
  return name.replaceAll(controlCharacters, ' ').replaceAll('://', ' ');
}

/** Formats a message as a quotation, line by line. */
export function quoteMessage(message: string): string {
  return message
    .split(lineBreak)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** Returns whether a message contains a link. Messages to other people must not contain one. */
export function hasLink(message: string): boolean {
  return message.includes('://');
}
