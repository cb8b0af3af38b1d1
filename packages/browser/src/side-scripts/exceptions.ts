import { createReadException } from '../exceptions/read-exception.ts';
import { offerSideScripts } from './offer.ts';

offerSideScripts({ exceptions: createReadException });
