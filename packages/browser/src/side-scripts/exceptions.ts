// The code that converts errors to events, as a side script that is loaded on demand.

import { createReadException } from '../exceptions/read-exception.ts';
import { registerSideScripts } from './offer.ts';

registerSideScripts({ exceptions: createReadException });
