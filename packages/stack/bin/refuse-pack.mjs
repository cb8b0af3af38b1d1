// Makes `npm pack` fail in a source directory, because a package of the sources would not work.
console.error(`
✗ This folder contains sources that cannot be packed. Run this in the root of the repository instead:
  npm run build && npm pack ./packages/browser/dist ./packages/react/dist
This also builds the command line, dist/millrace.mjs. In this clone, you can run it with \`npx millrace\`.
`);
process.exit(1);
