export { AppError, type AppErrorOptions, type ErrorKind, isAppError } from './app-error.ts';
