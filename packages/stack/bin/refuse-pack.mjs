// `npm pack` in a folder of sources, whose package nobody could use.
console.error(`
✗ Nothing here is a package as it is used. In the root of the repository:
  npm run build && npm pack ./packages/browser/dist ./packages/react/dist
The command is dist/millrace.mjs then; in this clone it is \`npx millrace\`.
`);
process.exit(1);
