export { PostHogProvider, PostHogProvider as MillraceProvider } from './context/PostHogProviderSlim.ts';
export * from './shared.ts';
