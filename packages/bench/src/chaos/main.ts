import { parseArgs } from 'node:util';
import { testSeed } from '@millrace/testing';
import { orUsage } from '../process/or-usage.ts';
import { chaosBrowser } from './browser-chaos.ts';
import { chaosConsumer } from './consumer-chaos.ts';
import { chaosFlags } from './flag-chaos.ts';
import { chaosGateway } from './gateway-chaos.ts';
import { chaosRegion } from './restore/region-chaos.ts';
import { chaosRestore } from './restore/restore-chaos.ts';
import { chaosUpgrade } from './upgrade/upgrade-chaos.ts';

const usage = `Usage: npm run chaos -- gateway  [--seconds 120] [--only name,name] [--fallback]
       npm run chaos -- consumer [--seconds 120] [--only name,name] [--seed N] [--rate 400] [--logs DIR]
       npm run chaos -- flags    [--seconds 15]  [--only name,name]
       npm run chaos -- browser  [--pages 10000] [--visitors 6] [--seed N]
       npm run chaos -- upgrade --from REF [--seconds 15] [--seed N] [--rate 400]
       npm run chaos -- region   [--seconds 30] [--seed N] [--rate 400]
       npm run chaos -- restore  [--seconds 60] [--seed N] [--rate 400]

Starts its own PostgreSQL, Kafka (Java 17 or later) and Redis, and the services as they are installed. Breaks each of them in turn
under load, for --seconds per phase, and compares the acknowledged events with the stored events. Exits with code 1 if any event is
lost, duplicated or wrong.

gateway, consumer  break the servers that the gateways or the consumers use
flags              also toggles a flag a hundred times. Results must not be more than a second old or take longer than half a second
browser            loads --pages pages of a site that uses the browser library, with reloads, crashes, tabs and outages
upgrade            builds the git revision REF, starts it, and upgrades it to this version and back, service by service
region             moves everything to other servers, with a PostgreSQL standby and an empty Kafka
restore            deletes the data of PostgreSQL and restores it from a base backup and its archive, while the gateways keep
                   acknowledging events

--fallback         runs the gateways with EVENT_LOG_FALLBACK=postgres
--logs DIR         writes the output of each consumer to DIR, with the start of each phase
--seed N           reproduces the random choices of an earlier run, which prints its seed (default: MILLRACE_SEED)`;

const { values, positionals } = orUsage(usage, () =>
  parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      only: { type: 'string' },
      fallback: { type: 'boolean', default: false },
      seed: { type: 'string' },
      rate: { type: 'string', default: '400' },
      logs: { type: 'string' },
      from: { type: 'string' },
      pages: { type: 'string', default: '10000' },
      visitors: { type: 'string', default: '6' },
    },
  }),
);
const print = (line: string) => console.log(line);
const usualSeconds: Record<string, number> = { flags: 15, upgrade: 15, region: 30, restore: 60 };
const seconds = Number(values.seconds ?? usualSeconds[positionals[0] ?? ''] ?? 120);
const eventsPerSecond = Number(values.rate);
const seed = Number(values.seed ?? testSeed());
const only = values.only?.split(',') ?? null;

if (!(seconds > 0 && eventsPerSecond > 0) || !Number.isInteger(seed)) {
  console.error(usage);
  process.exitCode = 2;
} else if (positionals[0] === 'gateway') {
  process.exitCode = (await chaosGateway({ seconds, only, hasFallback: values.fallback }, print)) ? 0 : 1;
} else if (positionals[0] === 'flags') {
  process.exitCode = (await chaosFlags({ seconds, only }, print)) ? 0 : 1;
} else if (positionals[0] === 'browser') {
  const [pages, visitors] = [Number(values.pages), Number(values.visitors)];
  process.exitCode = (await chaosBrowser({ pages, visitors, seed }, print)) ? 0 : 1;
} else if (positionals[0] === 'upgrade' && values.from !== undefined) {
  process.exitCode = (await chaosUpgrade({ seconds, from: values.from, seed, eventsPerSecond }, print)) ? 0 : 1;
} else if (positionals[0] === 'region') {
  process.exitCode = (await chaosRegion({ seconds, seed, eventsPerSecond }, print)) ? 0 : 1;
} else if (positionals[0] === 'restore') {
  process.exitCode = (await chaosRestore({ seconds, seed, eventsPerSecond }, print)) ? 0 : 1;
} else if (positionals[0] === 'consumer') {
  process.exitCode = (await chaosConsumer({ seconds, only, seed, eventsPerSecond, logs: values.logs ?? null }, print))
    ? 0
    : 1;
} else {
  console.error(usage);
  process.exitCode = 2;
}
// A client of kafkajs that was cut off may go on trying for ever.
process.exit();
