import { part, useAddress } from '../../../parts/address.ts';

/** `new`: what is being made. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionAddress = () => useAddress(parts);
