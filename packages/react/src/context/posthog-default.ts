import type { Client } from '@millrace/browser';

let defaultInstance: PostHog | undefined;

/** @internal Called by the main entry with the library's own client; the slim entry has none. */
export function setDefaultPostHogInstance(instance: PostHog | undefined): void {
  defaultInstance = instance;
}

/** The client of hooks without a provider, and the one a provider with an `apiKey` starts. */
export function getDefaultPostHogInstance(): PostHog | undefined {
  return defaultInstance;
}

/** The client, by the name applications import it by. */
export type PostHog = Client;
