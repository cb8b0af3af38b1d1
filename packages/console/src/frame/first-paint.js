// Runs before the styles are applied, so that pages do not flash in the wrong theme. It is a separate file because the content security policy
// forbids inline scripts.
try {
  const theme = localStorage.getItem('millrace-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // If storage is not available, the theme follows the system setting.
}
