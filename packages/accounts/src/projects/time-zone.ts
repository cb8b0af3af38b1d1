/**
 * Whether this is the name of a time zone, current or historical, as the IANA database writes it. An offset such as
 * `+02:00` is none, although Intl takes it; nor is a name in another case, which other programs would not find.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
