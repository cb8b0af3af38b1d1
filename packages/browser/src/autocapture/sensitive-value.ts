/** Numbers of payment cards by what they begin with and how long they are. */
const card =
  /^(4\d{12}(\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|6(011|5\d\d)\d{12}|62\d{14,17}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})$/;
/** US social security numbers. */
const socialSecurity = /^\d{3}-?\d{2}-?\d{4}$/;
/** Digits in groups, as people write such numbers. */
const groupedDigits = /\b\d[\d -]{9,21}\d\b/g;

/** Whether a text is nothing but a number that must not leave the page. */
export function isSensitive(text: string): boolean {
  const value = text.trim();
  return socialSecurity.test(value) || card.test(value.replace(/[- ]/g, ''));
}

const longestRead = 5000;

/** What may be sent of a text: its words, up to 255 characters, without such numbers. */
export function readableText(text: string): string {
  return text
    .trimStart()
    .slice(0, longestRead)
    .trimEnd()
    .replace(groupedDigits, (digits) => (isSensitive(digits) ? '' : digits))
    .split(/(\s+)/)
    .filter((word) => !isSensitive(word))
    .join('')
    .replace(/[\r\n]/g, ' ')
    .replace(/ +/g, ' ')
    .slice(0, 255);
}
