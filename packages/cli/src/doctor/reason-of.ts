/** Why something failed, in one line. Drivers name hosts, users and error codes in it, never a password. */
export function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let each = error; each instanceof Error && reasons.length < 3; each = each.cause) {
    const [first] = each instanceof AggregateError ? each.errors : [];
    const text = lastLine(each.message || (first instanceof Error ? first.message : each.name));
    if (!reasons.some((reason) => reason.includes(text))) reasons.push(text);
  }
  return reasons.length > 0 ? reasons.join(': ') : String(error);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? text;
}
