import { Router } from 'express';
import type { AnswerDependencies } from '../config-and-flags/answer-dependencies.ts';
import type { BrowserLibrary } from './browser-library.ts';
import { fileRoutes } from './library-file-route.ts';
import { libraryWithConfigRoutes } from './library-with-config-route.ts';

/** What pages without a build load the browser library from. */
export function libraryRoutes(deps: AnswerDependencies, library: BrowserLibrary | null): Router {
  const router = Router();
  fileRoutes(router, library);
  libraryWithConfigRoutes(router, deps, library);
  return router;
}
