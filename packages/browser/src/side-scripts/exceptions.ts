// A script that is loaded on demand and contains the code that reads errors.

import { createReadException } from '../exceptions/read-exception.ts';
import { offerSideScripts } from './offer.ts';

offerSideScripts({ exceptions: createReadException });
