import { type Environment, isOtlpEnabled } from './environment.ts';

/**
 * Loads OpenTelemetry's packages for metrics, if its variables enable them. Call it at the start:
 * later, Node 20 can resolve a package in a symbolic link, as pnpm installs it, to a second path, at
 * which its CommonJS exports are missing.
 */
export const loadMetricsExport = async (environment: Environment) =>
  isOtlpEnabled(environment, 'METRICS') ? import('./metrics.ts') : null;
