import { patienceMs } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { readInstalledVersion } from '../sdks/installed-version.ts';
import type { FlagCase } from './flag-cases.ts';
import { type FlagSdk, getPersonProperties, type SdkResult } from './flag-sdk.ts';
import { runConcurrently } from './run-concurrently.ts';

export function createNodeFlagSdk(): FlagSdk {
  return {
    name: `posthog-node ${readInstalledVersion('posthog-node')}`,
    unavailable: null,
    async evaluate({ ingestUrl, projectApiKey, definitionsKey }, cases) {
      const client = new PostHog(projectApiKey, {
        host: ingestUrl,
        featureFlagsRequestTimeoutMs: patienceMs,
        requestTimeout: patienceMs,
        ...(definitionsKey === null ? {} : { personalApiKey: definitionsKey }),
      });
      const results = new Map<number, SdkResult>();
      const printAgain = leaveOutKnownWarnings();
      try {
        if (definitionsKey !== null && !(await client.waitForLocalEvaluationReady(patienceMs))) {
          throw new Error('posthog-node got no definitions');
        }
        await runConcurrently(cases, async (one) => {
          results.set(one.number, await evaluateCase(client, one, definitionsKey !== null));
        });
      } finally {
        await client.shutdown();
        printAgain();
      }
      return results;
    },
  };
}

async function evaluateCase(client: PostHog, one: FlagCase, onlyEvaluateLocally: boolean): Promise<SdkResult> {
  const { groups, group_properties: groupProperties } = one.context;
  const result = await client.getFeatureFlagResult(one.flag, one.distinctId, {
    personProperties: getPersonProperties(one),
    // The SDK's types do not allow numeric group keys, but untyped programs send them.
    ...(groups === undefined ? {} : { groups: groups as Record<string, string> }),
    ...(groupProperties === undefined ? {} : { groupProperties }),
    onlyEvaluateLocally,
    sendFeatureFlagEvents: false,
  });
  return { value: result && (result.variant ?? result.enabled), payload: result?.payload };
}

/**
 * Suppresses expected warnings, because some cases are about flags that fail or require the server.
 * @returns a function that restores the console
 */
function leaveOutKnownWarnings(): () => void {
  const { error, warn } = console;
  const unlessKnown =
    (print: (...words: unknown[]) => void) =>
    (...words: unknown[]) => {
      if (!/Error while computing feature flags|You are using local evaluation but/.test(String(words[0])))
        print(...words);
    };
  console.error = unlessKnown(error);
  console.warn = unlessKnown(warn);
  return () => Object.assign(console, { error, warn });
}
