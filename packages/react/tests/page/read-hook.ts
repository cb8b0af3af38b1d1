import { act, createElement } from 'react';
import { PostHogProvider } from '../../src/provider.ts';
import {
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
} from '../../src/shared.ts';
import { mount } from './mount.ts';
import { createRecordingClient, type GivenFlags } from './recording-client.ts';

const hooks = {
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
};
export type FlagHook = keyof typeof hooks;

export interface HookReading {
  shown: unknown[];
  /** The calls to client methods. Excludes reads that capture no event. */
  calls: unknown[][];
}

export interface HookCase {
  hook: FlagHook;
  given: unknown[];
  client: GivenFlags;
  /** Flag sets that the client loads in sequence after the first render. */
  loads: GivenFlags[];
}

export function readHook({ hook, given, client, loads }: HookCase): HookReading {
  const recording = createRecordingClient(client);
  const shown: unknown[] = [];
  const use = hooks[hook] as (...given: unknown[]) => unknown;
  function Shown() {
    shown.push(use(...given) ?? 'nothing');
    return null;
  }
  const mounted = mount(createElement(PostHogProvider, { client: recording }, createElement(Shown)));
  for (const { flags = {}, payloads } of loads) act(() => recording.load(flags, payloads));
  mounted.unmount();
  return { shown, calls: recording.calls.filter((call) => !isQuiet(call)) };
}

function isQuiet([, , options]: unknown[]): boolean {
  return (options as { send_event?: boolean } | undefined)?.send_event === false;
}
