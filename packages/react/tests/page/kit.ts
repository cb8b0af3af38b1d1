import * as react from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { setDefaultPostHogInstance } from '../../src/context.ts';
import { PostHogProvider } from '../../src/provider.ts';
import * as shared from '../../src/shared.ts';
import { PostHogProvider as PostHogProviderSlim } from '../../src/slim.ts';
import { useThumbSurvey } from '../../src/surveys.ts';
import { mount } from './mount.ts';
import { readHook } from './read-hook.ts';
import { createRecordingClient } from './recording-client.ts';
import { serverTree } from './server-tree.ts';

const pageKit = {
  ...shared,
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
  useThumbSurvey,
};

declare global {
  var kit: PageKit;
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

export type PageKit = typeof pageKit;

globalThis.kit = pageKit;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
