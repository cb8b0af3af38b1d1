import { parseArgs } from 'node:util';
import { environment } from '@millrace/runtime';
import type { ClusterCommandOptions } from './command-options.ts';
import { insideNamespaces } from './inside-namespaces.ts';
import { outsideNamespaces } from './outside-namespaces.ts';

const usage = `Usage: npm run test:cluster [-- options]

Starts a Kubernetes of two nodes from packages alone, installs the chart on it, and lets happen to it, under load, what
happens in production. Ends with 1 when anything is lost or doubled. Needs root on Debian, Go, Java and redis-server.

  --only <word,word>   stories whose names contain one of these words
  --run <command>      instead of stories: a shell command that finds the cluster by kubectl and helm
  --chart <directory>  deploy/helm/millrace
  --image <archive>    this version's; packed now when not given
  --from <ref,ref>     also upgrades from these: anything git knows; built and packed first
  --rate <number>      events a second that clients capture, 2000
  --report <file>      the one in deploy/ when all stories run, else none`;

function readOptions(): ClusterCommandOptions | null {
  const text = { type: 'string' } as const;
  try {
    const options = { only: text, run: text, chart: text, image: text, report: text, from: text, rate: text };
    const { values } = parseArgs({ options: { ...options, inside: text, older: text } });
    if (!(Number(values.rate ?? 1) > 0)) throw new Error('--rate: how many events a second?');
    return values;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return null;
  }
}

const options = readOptions();
if (options === null) {
  console.error(usage);
  process.exitCode = 2;
} else if (options.inside === undefined) {
  process.exitCode = await outsideNamespaces(options, environment().CI === 'true');
} else {
  // Whatever still runs ends with this process.
  process.exit(await insideNamespaces({ ...options, inside: options.inside }));
}
