import type { Progress } from '../command.ts';
import type { Reaper } from '../process/reaper.ts';
import type { RunningServer } from '../process/running-server.ts';
import { chromiumSources, firefoxSources } from '../provision/browser-sources.ts';
import { NotProvided, provide, type Source } from '../provision/provision.ts';
import { kafkaSources, postgresSources, redisSources } from '../provision/sources.ts';

export interface TestServerSet {
  /** DATABASE_URL, KAFKA_BROKERS, REDIS_URL, CHROMIUM_PATH and FIREFOX_PATH, as far as they could be had. */
  addresses: Record<string, string>;
  /** The variables of servers that could not be had. */
  missing: string[];
  stop(): Promise<void>;
}

/** Brings up all side by side. What cannot be had is said, and left out. */
export async function provideTestServers(
  directory: string,
  reaper: Reaper,
  progress: Progress,
): Promise<TestServerSet> {
  const options = { directory, reaper, ports: { kafka: 0, redis: 0 } };
  const wanted: [variable: string, name: string, sources: Source[]][] = [
    ['DATABASE_URL', 'PostgreSQL', postgresSources(options)],
    ['KAFKA_BROKERS', 'Kafka', kafkaSources(options)],
    ['REDIS_URL', 'Redis', redisSources(options)],
    ['CHROMIUM_PATH', 'Chromium', chromiumSources()],
    ['FIREFOX_PATH', 'Firefox', firefoxSources()],
  ];
  const running: RunningServer[] = [];
  const addresses: Record<string, string> = {};
  const missing: string[] = [];
  const outcomes = await Promise.allSettled(
    wanted.map(async ([variable, name, sources]) => {
      try {
        const { server, source, passedOver } = await progress.step(name, async () => provide(name, sources));
        running.push(server);
        addresses[variable] = server.address;
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
