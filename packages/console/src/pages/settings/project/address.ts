import { part, useUrlState } from '../../../parts/address.ts';

/** `new` is the type of record that the user is creating. It is empty while the form is closed. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionUrlState = () => useUrlState(parts);
