import { loadSettings } from '../contract/settings/load.ts';

/** The settings of a service whose environment sets none. */
export const defaultSettings = loadSettings({});
