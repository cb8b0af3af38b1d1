/** How far the sending has come. */
export interface Sent {
  events: number;
  /** Bytes of the (unpacked) file. */
  offset: number;
}

export interface SendingPlan {
  /** Where it began; the file's beginning, or where an earlier run ended. */
  from: Sent;
  totalEvents: number;
  totalBytes: number;
}

/** What is said while an import runs: on a terminal one line that changes, else a line now and then. */
export interface Progress {
  checking(lines: number): void;
  /** From here on `sent` reports. */
  plan(plan: SendingPlan): void;
  sent(sent: Sent): void;
  /** A sentence on a line of its own. */
  note(sentence: string): void;
  /** Leaves the cursor at the beginning of an empty line. */
  end(): void;
}

interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
}

const intervalMs = { terminal: 200, log: 10_000 };

export function createProgress(output: Output, now: () => number = Date.now): Progress {
  const isTerminal = output.isTTY === true;
  let shownAt = isTerminal ? 0 : now();
  let isLineOpen = false;
  let sending: { plan: SendingPlan; startedAt: number } | undefined;

  function show(describe: () => string): void {
    if (now() - shownAt < (isTerminal ? intervalMs.terminal : intervalMs.log)) return;
    shownAt = now();
    output.write(isTerminal ? `\r${describe()}\u001b[K` : `${describe()}\n`);
    isLineOpen = isTerminal;
  }
  function clear(): void {
    if (isLineOpen) output.write('\r\u001b[K');
    isLineOpen = false;
  }

  return {
    checking: (lines) => show(() => `Checking: ${count(lines)} lines`),
    plan(plan) {
      sending = { plan, startedAt: now() };
    },
    sent(sent) {
      if (!sending) return;
      const { plan, startedAt } = sending;
      show(() => describeSending(plan, sent, now() - startedAt));
    },
    note(sentence) {
      clear();
      output.write(`${sentence}\n`);
    },
    end: clear,
  };
}

/** ` 42.1%  1,234 of 2,930 events  850/s  2 min left`; rate and time left are of this run. */
export function describeSending({ from, totalEvents, totalBytes }: SendingPlan, sent: Sent, elapsedMs: number): string {
  const share = totalBytes === 0 ? 100 : (sent.offset / totalBytes) * 100;
  const perSecond = Math.round(((sent.events - from.events) / Math.max(elapsedMs, 1)) * 1000);
  const bytesPerMs = (sent.offset - from.offset) / Math.max(elapsedMs, 1);
  const left = bytesPerMs > 0 ? `  ${describeDuration((totalBytes - sent.offset) / bytesPerMs)} left` : '';
  return `${share.toFixed(1).padStart(5)}%  ${count(sent.events)} of ${count(totalEvents)} events  ${count(perSecond)}/s${left}`;
}

function describeDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
