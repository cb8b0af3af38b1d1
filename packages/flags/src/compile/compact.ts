const none: readonly never[] = Object.freeze([]);

/** The list, or the one empty list that all share: a process remembers the flags of many projects. */
export function compact<Member>(list: readonly Member[]): readonly Member[] {
  return list.length === 0 ? none : list;
}
