/** Beyond this the running question is not waited for: its connection may be one that will never answer. */
const patienceMs = 250;

interface Query<Answer> {
  running: Promise<Answer>;
  beganAt: number;
  next?: Promise<Answer>;
}

/**
 * Lets those who ask the same at the same time share one answer: who comes while a question is on its way waits for the
 * next one, which begins when that has its answer. So no answer is older than the request it is for, which a cache could
 * not promise, and a client with many connections costs hardly more than one with one.
 */
export function coalesceLookups<Answer>(
  ask: (subject: string) => Promise<Answer>,
): (subject: string) => Promise<Answer> {
  const queries = new Map<string, Query<Answer>>();

  function begin(subject: string): Promise<Answer> {
    const query: Query<Answer> = { running: ask(subject), beganAt: performance.now() };
    queries.set(subject, query);
    const end = () => {
      if (query.next === undefined && queries.get(subject) === query) queries.delete(subject);
    };
    query.running.then(end, end);
    return query.running;
  }

  return (subject) => {
    const query = queries.get(subject);
    if (query === undefined) return begin(subject);
    if (query.next === undefined && performance.now() - query.beganAt > patienceMs) return begin(subject);
    query.next ??= query.running.then(
      () => begin(subject),
      () => begin(subject),
    );
    return query.next;
  };
}
