import { parseArgs } from 'node:util';
import { benchBrowser } from './browser-bench.ts';
import { benchConsole, type ConsolePart, consoleParts } from './console-bench.ts';
import { benchConsumer } from './consumer-bench.ts';
import { benchConsumerGrowth } from './consumer-growth-bench.ts';
import { benchE2e } from './e2e-bench.ts';
import { benchFlags } from './flags-bench.ts';
import { benchGateway } from './gateway-bench.ts';
import { benchInsights } from './insights-bench.ts';
import { benchManagement } from './management-bench.ts';
import { orUsage } from './process/or-usage.ts';
import { benchSignIn } from './sign-in-bench.ts';

const usage = `Usage: npm run bench -- gateway  [--pairs 3] [--seconds 4] [--connections 128]
       npm run bench -- consumer [--pairs 3] [--events 100000] [--copy]
       npm run bench -- consumer --projects 1,1000 [--prefill 10000,1000000] [--pairs 3] [--events 100000]
                          [--warm-up 20000] [--statements]
       npm run bench -- e2e      [--rate 5000] [--seconds 20] [--questions --events 1000000]
       npm run bench -- management [--connections 16] [--seconds 5]
       npm run bench -- flags    [--pairs 3] [--seconds 4] [--connections 64]
       npm run bench -- browser  [--pairs 3] [--visits 20]
       npm run bench -- console  [--only load,live,flood,watchers,events] [--visits 20] [--seconds 60]
                          [--projects 20] [--watchers 50] [--rate 5000] [--events 1000000]
       npm run bench -- sign-in  [--seconds 30]
       npm run bench -- insights [--events 1000000] [--pairs 3] [--clickhouse]

Requires DATABASE_URL (with a PostgreSQL superuser), KAFKA_BROKERS and REDIS_URL of real servers. Existing data on these servers is
not changed. Prints each target and whether it was met.

gateway and consumer alternate between Millrace and the naive stack in packages/bench/src/naive. flags compares with posthog-node.
e2e follows events from the request to the stored row. With --questions, insight queries about other events run at the same time.
browser does not need servers, but needs Chromium on the PATH or at CHROMIUM_PATH. console needs both, and npm for the Unleash pages.`;

const { values, positionals } = orUsage(usage, () =>
  parseArgs({
    allowPositionals: true,
    options: {
      pairs: { type: 'string', default: '3' },
      seconds: { type: 'string' },
      connections: { type: 'string' },
      events: { type: 'string' },
      copy: { type: 'boolean', default: false },
      projects: { type: 'string' },
      prefill: { type: 'string' },
      'warm-up': { type: 'string', default: '0' },
      statements: { type: 'boolean', default: false },
      rate: { type: 'string', default: '5000' },
      visits: { type: 'string', default: '20' },
      watchers: { type: 'string', default: '50' },
      clickhouse: { type: 'boolean', default: false },
      questions: { type: 'boolean', default: false },
      only: { type: 'string', default: consoleParts.join(',') },
    },
  }),
);
const { pairs, rate, visits, watchers } = values;
const positive = [
  pairs,
  rate,
  visits,
  watchers,
  values.events ?? '1',
  values.seconds ?? '1',
  values.connections ?? '1',
  ...(values.projects ?? '1').split(','),
];
const prefills = (values.prefill ?? '0').split(',').map(Number);
const warmUp = Number(values['warm-up']);
const parts = values.only.split(',').filter((part): part is ConsolePart => consoleParts.some((each) => each === part));
const isValid =
  parts.length === values.only.split(',').length &&
  positive.every((text) => Number(text) > 0) &&
  [...prefills, warmUp].every((count) => Number.isInteger(count) && count >= 0);
const print = (line: string) => console.log(line);
const connections = (usual: number) => Number(values.connections ?? usual);
const seconds = (usual: number) => Number(values.seconds ?? usual);
const events = (usual: number) => Number(values.events ?? usual);

switch (isValid ? positionals[0] : 'none') {
  case 'gateway':
    await benchGateway({ pairs: Number(pairs), seconds: seconds(4), connections: connections(128) }, print);
    break;
  case 'consumer':
    if (values.projects === undefined && values.prefill === undefined) {
      await benchConsumer({ pairs: Number(pairs), events: events(100_000), withCopy: values.copy }, print);
    } else {
      await benchConsumerGrowth(
        {
          pairs: Number(pairs),
          events: events(100_000),
          projects: (values.projects ?? '1').split(',').map(Number),
          prefills,
          warmUp,
          withStatements: values.statements,
        },
        print,
      );
    }
    break;
  case 'e2e':
    await benchE2e(
      { rate: Number(values.rate), seconds: seconds(20), askedAbout: values.questions ? events(1_000_000) : null },
      print,
    );
    break;
  case 'management':
    await benchManagement({ connections: connections(16), seconds: seconds(5) }, print);
    break;
  case 'flags':
    await benchFlags({ pairs: Number(pairs), seconds: seconds(4), connections: connections(64) }, print);
    break;
  case 'browser':
    await benchBrowser({ pairs: Number(pairs), visits: Number(visits) }, print);
    break;
  case 'sign-in':
    await benchSignIn({ seconds: seconds(30) }, print);
    break;
  case 'insights':
    await benchInsights({ events: events(1_000_000), runs: Number(pairs), withClickHouse: values.clickhouse }, print);
    break;
  case 'console':
    await benchConsole(
      {
        parts,
        visits: Number(visits),
        seconds: seconds(60),
        projects: Number(values.projects ?? 20),
        watchers: Number(watchers),
        rate: Number(rate),
        events: events(1_000_000),
      },
      print,
    );
    break;
  default:
    console.error(usage);
    process.exitCode = 2;
}
