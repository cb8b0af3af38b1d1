import { posthog } from '@millrace/browser';
import { setDefaultPostHogInstance } from './context.ts';

// With a default client, hooks work without a provider, and a provider can start the client.
setDefaultPostHogInstance(posthog);

export { PostHogProvider, PostHogProvider as MillraceProvider } from './provider.ts';
export * from './shared.ts';
