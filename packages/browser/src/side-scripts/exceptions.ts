import { createReadException } from '../exceptions/read-exception.ts';
import { offer } from './offer.ts';

offer({ exceptions: createReadException });
