import { type ConnectionReport, checkConnections } from '../connections/check-connections.ts';
import type { Traffic } from '../connections/watch-connections.ts';
import type { NetworkPolicy, PolicyRule } from '../network-policies.ts';
import { imageRepository } from './install.ts';
import { measureStory, type Story, type StoryContext } from './story.ts';

/**
 * Checks all pod connections against the network policies, including connections from before the chart was installed.
 * This cluster does not enforce policies, so a missing rule would not make any other test fail.
 */
export const connectionsStory: Story = {
  name: 'pod connections, checked against the network policies',
  run: (context) =>
    measureStory('connections', context.setting, async () => {
      const { cluster, release } = context;
      await useTheRest(context);
      const gateway = await release.kubectl(
        ...['get', 'pod', '-l', 'app.kubernetes.io/component=gateway', '-o', 'jsonpath={.items[0].status.podIP}'],
      );
      const metrics = `http://${gateway}:9090/metrics`;
      await ask(context, { name: 'stranger', namespace: release.namespace, url: metrics });
      await release.kubectl('create', 'namespace', 'monitoring');
      await ask(context, { name: 'prometheus', namespace: 'monitoring', url: metrics });
      await release.kubectl('delete', 'namespace', 'monitoring', '--wait=false');
      return verdict(context, cluster.traffic());
    }),
};

/** Uses the documented features that no other story uses. */
async function useTheRest({ cluster, release, setting }: StoryContext): Promise<void> {
  for (const name of ['gateway', 'consumer-live', 'management-api']) {
    const words = ['exec', `deploy/millrace-${name}`, '--', 'millrace', 'doctor'];
    const { status, output } = await cluster.kubectl('--namespace', release.namespace, ...words);
    // Status 1 only reports a problem with the stores, so ignore it.
    if (status > 1) throw new Error(`doctor in ${name} ended with ${status}:\n${output}`);
  }
  // The API forwards this request from SDKs with local evaluation to a gateway.
  const definitions = `/api/feature_flag/local_evaluation?token=${setting.projectApiKey}`;
  await (await fetch(`${await release.urlOf('management-api')}${definitions}`)).arrayBuffer();
}

async function ask(
  { release, tags }: StoryContext,
  { name, namespace, url }: { name: string; namespace: string; url: string },
): Promise<void> {
  const kubectl = (...words: string[]) => release.kubectl('--namespace', namespace, ...words);
  const script = `fetch('${url}').then((response) => response.text())`;
  await kubectl('run', name, `--image=${imageRepository}:${tags.installed}`, '--restart=Never', '--', '-e', script);
  await kubectl('wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s');
  await kubectl('delete', 'pod', name);
}

/** Checks the connections as if the chart did not contain certain rules. */
function without(isForgotten: (rule: PolicyRule) => boolean, traffic: Traffic): ConnectionReport {
  const rest = (rules: PolicyRule[] = []) => rules.filter((rule) => !isForgotten(rule));
  const policies = traffic.policies.map(({ spec, ...policy }) => {
    return { ...policy, spec: { ...spec, ingress: rest(spec.ingress), egress: rest(spec.egress) } };
  });
  return checkConnections({ ...traffic, policies });
}

/** @throws Error with the connections that no policy allows, or if an expected connection is missing */
function verdict({ release, print }: StoryContext, traffic: Traffic): string {
  const { allowed, refused, fromNode } = checkConnections(traffic);
  for (const name of allowed) print(`  ${name}`);
  const { namespace } = release;
  const strangers = refused.filter((name) => name.startsWith(`${namespace}/stranger → ${namespace}/gateway:`));
  if (strangers.length === 0) throw new Error('the connection from an unrelated pod was not recorded, or not denied');
  const missing = refused.filter((name) => !strangers.includes(name));
  if (missing.length > 0) throw new Error(`no policy allows\n  ${missing.join('\n  ')}`);
  const open = without(() => true, traffic).allowed;
  if (open.length > 0) throw new Error(`no policy applies to\n  ${open.join('\n  ')}`);
  const seen = new Set(allowed.map((name) => name.split(' → ')[0]));
  const actors = ['monitoring/prometheus', ...traffic.policies.flatMap((policy) => nameOf(policy) ?? [])];
  const unseen = actors.filter((name) => !seen.has(name));
  if (unseen.length > 0) throw new Error(`no connection was recorded from ${unseen.join(', ')}`);
  const dns = without(({ ports }) => ports?.some(({ port }) => port === 53) ?? false, traffic);
  const askForNames = dns.refused.length - refused.length;
  if (askForNames === 0) throw new Error('no DNS query was recorded');
  return [
    `${allowed.length} different pod connections since before the installation, all allowed by the policies on the API server`,
    `(without the DNS rules, ${askForNames} would not be allowed; without any rules, none would be). A connection from an unrelated pod was denied.`,
    `${fromNode.length} connections from the node (probes, clients) were not checked.`,
  ].join(' ');
}

/** Returns the component that a policy applies to, or undefined for the policy that denies all traffic. */
function nameOf({ metadata, spec }: NetworkPolicy): string | undefined {
  const component = spec.podSelector?.matchLabels?.['app.kubernetes.io/component'];
  return component && `${metadata.namespace}/${component}`;
}
