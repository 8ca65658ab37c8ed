export declare const HOOK_SCRIPT: {
  format: 'iife';
  strict: boolean;
  banner: string;
  intro: string;
  footer: string;
};
export declare const carriedScript: (
  name: 'messages' | 'instructions',
) => typeof HOOK_SCRIPT & { name: string };
