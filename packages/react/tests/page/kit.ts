import * as react from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import * as components from '../../src/components/index.ts';
import { PostHogContext } from '../../src/context/PostHogContext.ts';
import { PostHogProvider } from '../../src/context/PostHogProvider.ts';
import { PostHogProvider as PostHogProviderSlim } from '../../src/context/PostHogProviderSlim.ts';
import { setDefaultPostHogInstance } from '../../src/context/posthog-default.ts';
import { setupReactErrorHandler } from '../../src/helpers/error-helpers.ts';
import * as hooks from '../../src/hooks/index.ts';
import { useThumbSurvey } from '../../src/hooks/useThumbSurvey.ts';
import { mount } from './mount.ts';
import { readHook } from './read-hook.ts';
import { createRecordingClient } from './recording-client.ts';
import { serverTree } from './server-tree.ts';

/** What a test finds in the page as `kit`. */
const pageKit = {
  ...components,
  ...hooks,
  PostHogContext,
  PostHogProvider,
  PostHogProviderSlim,
  createRecordingClient,
  createRoot,
  hydrateRoot,
  mount,
  react,
  readHook,
  serverTree,
  setDefaultPostHogInstance,
  setupReactErrorHandler,
  useThumbSurvey,
};

declare global {
  var kit: PageKit;
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

export type PageKit = typeof pageKit;

globalThis.kit = pageKit;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
