/**
 * Takes all items out of a list, for the last one who needs them. Callers that wait keep their variables, and with them
 * a batch's events for as long as the database is at work: the garbage collector would copy them twice and free them
 * late. An emptied list keeps nothing in memory. How much this gains by itself was not measured: with the reading of
 * properties put off (intake/unparsed-event.ts) it was one change.
 */
export function takeAll<Item>(list: Item[]): Item[] {
  return list.splice(0);
}
