import { part, useUrlState } from '../../../parts/address.ts';

/** `new` is what the user is creating. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionUrlState = () => useUrlState(parts);
