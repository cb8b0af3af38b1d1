import { part, useUrlState } from '../../../parts/address.ts';

/** The type of record that the user is creating, or empty while the form is closed. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionUrlState = () => useUrlState(parts);
