import { captureVitals } from '../web-vitals/capture-vitals.ts';
import { offer } from './offer.ts';

offer({ 'web-vitals': captureVitals });
