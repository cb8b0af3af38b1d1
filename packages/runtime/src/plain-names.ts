/** Prepares user-provided names and messages for emails to other people. */

/**
 * Matches line breaks and other control characters. With a line break, a name could add a line to the email that looks
 * as if Millrace had written it.
 */
const controlCharacters = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const lineBreak = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/** Returns true if a name is a single line without `://`. Mail programs would turn a URL into a link. */
export function isPlainName(name: string): boolean {
  return toPlainName(name) === name;
}

export function toPlainName(name: string): string {
  return name.replaceAll(controlCharacters, ' ').replaceAll('://', ' ');
}

export function quoteMessage(message: string): string {
  return message
    .split(lineBreak)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** Returns true if a message contains a link, which is not allowed in messages to other people. */
export function hasLink(message: string): boolean {
  return message.includes('://');
}
