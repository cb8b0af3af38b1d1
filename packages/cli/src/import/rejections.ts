import type { Fault } from './check-line.ts';

/** Lines that are not imported. A file of nothing but faults must not fill the memory, so only the first are kept. */
export interface Rejections {
  count(): number;
  /** The first 10,000. */
  faults(): readonly Fault[];
  add(fault: Fault): void;
}

const keptFaults = 10_000;

export function createRejections(): Rejections {
  const kept: Fault[] = [];
  let count = 0;
  return {
    count: () => count,
    faults: () => kept,
    add(fault) {
      count += 1;
      if (kept.length < keptFaults) kept.push(fault);
    },
  };
}

/** `line 12: timestamp: missing`. */
export function describeFault({ line, field, reason }: Fault): string {
  return `line ${line}: ${field === null ? '' : `${field}: `}${reason}`;
}
