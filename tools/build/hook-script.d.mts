export declare const HOOK_SCRIPT: {
  format: 'iife';
  strict: boolean;
  banner: string;
  intro: string;
  footer: string;
};
export declare const MESSAGES_SCRIPT: typeof HOOK_SCRIPT & { name: string };
