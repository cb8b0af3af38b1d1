import type { RunningServer } from '../process/server-process.ts';
import { SetupProblem } from '../setup-problem.ts';

/** One way to get a server. */
export interface Source {
  name: string;
  /** Null when it can be tried, else why not, in half a sentence. */
  unavailable(): Promise<string | null>;
  start(): Promise<RunningServer>;
}

export interface Provisioned {
  server: RunningServer;
  source: string;
  /** Why not from a source before it, `<source>: <reason>` each. */
  passedOver: string[];
}

/** Thrown when no source could give the server; says why for each. */
export class NotProvided extends SetupProblem {
  constructor(server: string, reasons: readonly string[]) {
    super(`${server} could not be started. Tried:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`);
  }
}

/**
 * The server from the first source that works.
 * @throws NotProvided when none does.
 */
export async function provide(server: string, sources: readonly Source[]): Promise<Provisioned> {
  const reasons: string[] = [];
  for (const source of sources) {
    const reason = await source.unavailable();
    if (reason !== null) {
      reasons.push(`${source.name}: ${reason}`);
      continue;
    }
    try {
      return { server: await source.start(), source: source.name, passedOver: reasons };
    } catch (error) {
      reasons.push(`${source.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new NotProvided(server, reasons);
}
