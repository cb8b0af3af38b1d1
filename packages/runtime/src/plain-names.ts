/** Prepares user-provided names and messages for emails to other people. */

/**
 * Matches line breaks and other control characters. In an email, text after a line break could look as if Millrace had
 * written it.
 */
const controlCharacters = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const lineBreak = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/** Returns true if a name is a single line without `://`, because mail programs convert text with `://` to a link. */
export function isPlainName(name: string): boolean {
  return toPlainName(name) === name;
}

/** Converts an unvalidated name to a single line without `://`. */
export function toPlainName(name: string): string {
  return name.replaceAll(controlCharacters, ' ').replaceAll('://', ' ');
}

export function quoteMessage(message: string): string {
  return message
    .split(lineBreak)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** Returns true if a message contains a link. Messages to other people must not contain links. */
export function hasLink(message: string): boolean {
  return message.includes('://');
}
