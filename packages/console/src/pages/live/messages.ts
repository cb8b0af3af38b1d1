/** An event that was stored, changed or dropped, with the reason. The Live page shows it as a row. */
export interface LiveMessage {
  uuid: string | null;
  timestamp: string;
  distinct_id: string | null;
  person_id: string | null;
  event: string | null;
  properties: Record<string, unknown>;
  outcome: 'stored' | 'dropped' | 'changed';
  captured_at?: string;
  stored_at?: string;
  reason?: string;
  detail?: string;
  severity?: string;
  details?: Record<string, unknown>;
  rule?: string;
}

export type LiveNotice =
  | { kind: 'hello'; stored: boolean; why: string | null }
  | { kind: 'gap'; missed: number }
  | { kind: 'share'; share: number }
  | { kind: 'trouble'; detail: string }
  /** The stream reports its lag only while it works, so this message ends any earlier `trouble`. */
  | { kind: 'lag' }
  | { kind: 'bye'; reason: string };

export type StreamMessage = { kind: 'event'; message: LiveMessage } | LiveNotice;

/**
 * Returns a parser for an event stream, which accepts the stream in chunks, with any line endings and multi-line data.
 * Comments are ignored, except that a comment with the lag is passed to `take` as a message named `lag`.
 */
export function createStreamParser(take: (name: string, data: string) => void) {
  let rest = '';
  let name = '';
  let data: string[] = [];
  const readLine = (line: string) => {
    if (line === '') {
      if (data.length > 0) take(name, data.join('\n'));
      name = '';
      data = [];
    } else if (line.startsWith(': lag')) take('lag', '{}');
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) name = line.slice(6).trim();
  };
  return (piece: string) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) readLine(line);
  };
}

const notices = ['hello', 'gap', 'share', 'trouble', 'lag', 'bye'];

/** Parses a stream message. @returns null if the message is unknown, because a newer server may send other messages */
export function parseStreamMessage(name: string, data: string): StreamMessage | null {
  try {
    const value = JSON.parse(data) as Record<string, unknown>;
    if (name === '' || name === 'message') return { kind: 'event', message: value as unknown as LiveMessage };
    return notices.includes(name) ? ({ kind: name, ...value } as LiveNotice) : null;
  } catch {
    return null;
  }
}
