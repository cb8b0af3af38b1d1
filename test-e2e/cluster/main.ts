import { parseArgs } from 'node:util';
import { readEnvironment } from '@millrace/runtime';
import type { ClusterCommandOptions } from './command-options.ts';
import { runInsideNamespaces } from './inside-namespaces.ts';
import { runOutsideNamespaces } from './outside-namespaces.ts';

const usage = `Usage: npm run test:cluster [-- options]

Starts a Kubernetes cluster with two nodes, installs the chart, and runs failure scenarios under load. The cluster's programs
come only from packages. Exits with code 1 if an event is lost or duplicated. Requires Debian, root, Go, Java and redis-server.

  --only <word,word>   Run only scenarios whose names contain one of these words.
  --run <command>      Run this shell command instead of the scenarios. The command can use kubectl and helm.
  --chart <directory>  Install this chart (default: deploy/helm/millrace).
  --image <archive>    Install this image (default: an image of this version, which is built first).
  --from <ref,ref>     Also upgrade from these git revisions, which are built first.
  --rate <number>      Number of events that the clients send per second (default: 2000).
  --report <file>      Write the report to this file (default: the report in deploy/, but only if all scenarios run).`;

function readOptions(): ClusterCommandOptions | null {
  const text = { type: 'string' } as const;
  try {
    const options = { only: text, run: text, chart: text, image: text, report: text, from: text, rate: text };
    const { values } = parseArgs({ options: { ...options, inside: text, older: text } });
    if (!(Number(values.rate ?? 1) > 0)) throw new Error('--rate must be a positive number of events per second');
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
  process.exitCode = await runOutsideNamespaces(options, readEnvironment().CI === 'true');
} else {
  // End this process and everything that is still running.
  process.exit(await runInsideNamespaces({ ...options, inside: options.inside }));
}
