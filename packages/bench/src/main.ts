// `npm run bench`: the command line of all benchmarks.

import { withBenchServers } from '@millrace/stack/test/bench-servers';
import { benchConsole, consoleParts } from './console-bench.ts';
import { benchConsumer } from './consumer-bench.ts';
import { benchE2e } from './e2e-bench.ts';
import { benchFlags } from './flags-bench.ts';
import { benchGateway } from './gateway-bench.ts';
import { createCommand, runCommand } from './harness/command.ts';
import { benchInsights } from './insights-bench.ts';

const about = `Runs on the servers in DATABASE_URL (with a PostgreSQL superuser), KAFKA_BROKERS and REDIS_URL, and starts those that are not set.
Existing data on these servers is not changed. Prints each target and whether it was met.

gateway and consumer alternate between Millrace and the naive stack in packages/bench/src/naive. flags compares with posthog-node.
e2e follows events from the request to the stored row. With --queries, it measures a second time while insight queries run, and
with --queries --sql while twenty SQL queries of one project run. With --copy, it measures a second time while the delivery
worker copies events and persons to ClickHouse.
console needs Chromium on the PATH or at CHROMIUM_PATH, and npm for the Unleash pages.`;

const commands = {
  gateway: createCommand(benchGateway, { pairs: 3, seconds: 4 }),
  consumer: createCommand(benchConsumer, {
    pairs: 3,
    events: 100_000,
    copy: false,
    projects: [1],
    prefill: [0],
    warmUp: 0,
  }),
  e2e: createCommand(benchE2e, { rate: 5000, seconds: 20, queries: false, sql: false, events: 1_000_000, copy: false }),
  insights: createCommand(benchInsights, { events: 1_000_000, pairs: 3, clickhouse: false, data: '', only: '' }),
  flags: createCommand(benchFlags, { pairs: 3, seconds: 4 }),
  console: createCommand(benchConsole, { only: consoleParts, visits: 20, seconds: 60, events: 1_000_000 }),
};
await runCommand('bench', about, commands, (work) => withBenchServers(process.cwd(), work));
