export function filesBelow(
  directory: string,
  options?: { withPackages?: boolean },
): { path: string; isLink: boolean }[];
