// Prints the progress of an import.

export interface SentCounts {
  events: number;
  /** Position in the (decompressed) file, in bytes. */
  offset: number;
}

export interface ImportTotals {
  /** The position at which sending started: the start of the file, or the position at which an earlier run stopped. */
  from: SentCounts;
  totalEvents: number;
  totalBytes: number;
}

/** Prints the progress of an import: on a terminal, in one line that is updated, and otherwise in a few new lines. */
export interface Progress {
  checking(lines: number): void;
  setTotals(totals: ImportTotals): void;
  sent(sent: SentCounts): void;
  note(sentence: string): void;
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
  let sending: { totals: ImportTotals; startedAt: number } | undefined;

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
    setTotals(totals) {
      sending = { totals, startedAt: now() };
    },
    sent(sent) {
      if (!sending) return;
      const { totals, startedAt } = sending;
      show(() => describeSendProgress(totals, sent, now() - startedAt));
    },
    note(sentence) {
      clear();
      output.write(`${sentence}\n`);
    },
    end: clear,
  };
}

/**
 * Formats progress as ` 42.1%  1,234 of 2,930 events  850/s  2 min left`. Computes the rate and the remaining time
 * from this run only.
 */
export function describeSendProgress(
  { from, totalEvents, totalBytes }: ImportTotals,
  sent: SentCounts,
  elapsedMs: number,
): string {
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
