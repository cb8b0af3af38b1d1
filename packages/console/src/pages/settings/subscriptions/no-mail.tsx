import { sendsMail } from '../../../api/request.ts';
import { text } from './words.ts';

/** Warns that the installation does not send email, so that users know before a report fails. */
export const NoMail = () => (sendsMail() ? null : <p className="note warn">{text.noMail}</p>);
