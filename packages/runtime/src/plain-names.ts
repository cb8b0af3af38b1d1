/** Names and messages that one account chose, as emails to other people may contain them. */

/** Line breaks and other control characters: in an email, what follows could pass for a line of ours. */
const controlCharacters = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const lineBreak = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/** Whether a name is one line without `://`, which mail programs turn into a link. */
export function isPlainName(name: string): boolean {
  return toPlainName(name) === name;
}

/** A name that was not checked when it was chosen, as one line without `://`. */
export function toPlainName(name: string): string {
  return name.replaceAll(controlCharacters, ' ').replaceAll('://', ' ');
}

/** A message, marked line by line as a quotation. */
export function quoteMessage(message: string): string {
  return message
    .split(lineBreak)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** What is refused in a message that is sent to other people. */
export function hasLink(message: string): boolean {
  return message.includes('://');
}
