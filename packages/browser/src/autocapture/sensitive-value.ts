/** Numbers of payment cards, by what they begin with and how long they are. */
const card = /^([2-6]\d{15}|4\d{12}|3\d{13,14}|(1800|2131)\d{11}|62\d{15,17})$/;
/** US social security numbers. */
const socialSecurity = /^\d{3}-?\d{2}-?\d{4}$/;
/** Digits in groups, as people write such numbers. */
const groupedDigits = /\b\d[\d -]{9,21}\d\b/g;

/** Whether a text is nothing but a number that must not leave the page. */
export function isSensitive(text: string): boolean {
  const value = text.trim();
  return /^[\d -]+$/.test(value) && (socialSecurity.test(value) || card.test(value.replace(/[- ]/g, '')));
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
