// Runs before the styles are read, so that no page flashes in the other theme. A file, as the policy forbids inline scripts.
try {
  const theme = localStorage.getItem('millrace-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser without storage follows the system.
}
