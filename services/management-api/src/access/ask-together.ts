/** Beyond this the running question is not waited for: its connection may be one that will never answer. */
const patienceMs = 250;

interface Turn<Answer> {
  running: Promise<Answer>;
  beganAt: number;
  next?: Promise<Answer>;
}

/**
 * Lets those who ask the same at the same time share one answer: who comes while a question is on its way waits for the
 * next one, which begins when that has its answer. So no answer is older than the request it is for, which a cache could
 * not promise, and a client with many connections costs hardly more than one with one.
 */
export function askTogether<Answer>(ask: (subject: string) => Promise<Answer>): (subject: string) => Promise<Answer> {
  const turns = new Map<string, Turn<Answer>>();

  function begin(subject: string): Promise<Answer> {
    const turn: Turn<Answer> = { running: ask(subject), beganAt: performance.now() };
    turns.set(subject, turn);
    const end = () => {
      if (turn.next === undefined && turns.get(subject) === turn) turns.delete(subject);
    };
    turn.running.then(end, end);
    return turn.running;
  }

  return (subject) => {
    const turn = turns.get(subject);
    if (turn === undefined) return begin(subject);
    if (turn.next === undefined && performance.now() - turn.beganAt > patienceMs) return begin(subject);
    turn.next ??= turn.running.then(
      () => begin(subject),
      () => begin(subject),
    );
    return turn.next;
  };
}
