import type { Progress } from '../command.ts';
import type { Reaper } from '../process/reaper.ts';
import type { RunningServer } from '../process/server-process.ts';
import { NotProvided, provide, type Source } from '../provision/provision.ts';
import {
  chromiumSources,
  firefoxSources,
  kafkaProgramSources,
  kafkaSources,
  postgresSources,
  redisProgramSources,
  redisSources,
  windowlessChromium,
} from '../provision/sources.ts';
import type { Need } from './test-needs.ts';

export interface TestServerSet {
  /** By variable, of what was needed, as far as it could be had. */
  addresses: Record<string, string>;
  /** The variables of what was needed and is not available. */
  missing: string[];
  stop(): Promise<void>;
}

/** Brings up what the tests need, side by side. What cannot be had is said, and left out. */
export async function provideTestServers(
  needed: ReadonlySet<Need>,
  { directory, reaper, progress }: { directory: string; reaper: Reaper; progress: Progress },
): Promise<TestServerSet> {
  const options = { directory, reaper, ports: { kafka: 0, redis: 0 }, say: progress.print };
  const keepsPages = needed.has('KEPT_PAGES');
  const known: Record<Exclude<Need, 'KEPT_PAGES'>, [name: string, sources: Source[]]> = {
    DATABASE_URL: ['PostgreSQL', postgresSources(options)],
    KAFKA_BROKERS: ['Kafka', kafkaSources(options)],
    REDIS_URL: ['Redis', redisSources(options)],
    KAFKA_JARS: ["Kafka's programs", kafkaProgramSources(options)],
    REDIS_SERVER_PATH: ['redis-server', redisProgramSources(options)],
    CHROMIUM_PATH: ['Chromium', chromiumSources(options, { keepsPages })],
    FIREFOX_PATH: ['Firefox', firefoxSources(options)],
  };
  const running: RunningServer[] = [];
  const addresses: Record<string, string> = {};
  const missing: string[] = [];
  const outcomes = await Promise.allSettled(
    [...needed].map(async (variable) => {
      if (variable === 'KEPT_PAGES') return;
      const [name, sources] = known[variable];
      try {
        const { server, source, passedOver } = await progress.step(name, async () => provide(name, sources));
        running.push(server);
        addresses[variable] = server.address;
        if (source === windowlessChromium && keepsPages) {
          missing.push('KEPT_PAGES');
          progress.print('! This Chromium has no back button: the tests that need it are skipped.');
        }
        const worthSaying = passedOver.filter((reason) => !reason.endsWith(': not set'));
        progress.print(`  ${name} from ${source}${worthSaying.length > 0 ? ` (${worthSaying.join('; ')})` : ''}`);
      } catch (error) {
        if (!(error instanceof NotProvided)) throw error;
        missing.push(variable);
        progress.print(
          `! ${error.message}\n! The tests that need ${name} are skipped, which is not the same as passed.`,
        );
      }
    }),
  );
  const stop = async () => void (await Promise.allSettled(running.map((server) => server.stop())));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { addresses, missing, stop };
}
