import { posthog } from '@millrace/browser';
import { setDefaultPostHogInstance } from './context.ts';

// Makes hooks work without a provider, and gives the provider a client to start. The slim entry leaves this out.
setDefaultPostHogInstance(posthog);

export { PostHogProvider, PostHogProvider as MillraceProvider } from './provider.ts';
export * from './shared.ts';
