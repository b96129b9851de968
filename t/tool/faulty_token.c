/* SPDX-License-Identifier: Apache-2.0 */
/* faulty_token.c: a PKCS#11 module for tests, which is the module of FAULTY_MODULE with faults. The folder
 * FAULTY_FOLDER has one file for each function that is watched: each call of C_Login appends its result to `logins`. If
 * `sign` exists, it has the return value of C_Sign (0x32), or "flip": one bit of each signature is changed. If `crash`
 * exists, C_Login ends the process. If `final` exists, tokens say that there is one more try. */
#include <dlfcn.h>
#include <p11-kit/pkcs11.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CK_FUNCTION_LIST *module, list;

static FILE *control(const char *name, const char *mode)
{
    char path[4096];
    const char *folder = getenv("FAULTY_FOLDER");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    return fopen(path, mode);
}

static CK_RV log_in(CK_SESSION_HANDLE session, CK_USER_TYPE user, CK_UTF8CHAR *pin, CK_ULONG length)
{
    FILE *crash = control("crash", "r"), *log = control("logins", "a");
    if (crash) fprintf(log, "crash\n");
    if (crash) fclose(log);
    if (crash) raise(SIGKILL);
    const CK_RV value = module->C_Login(session, user, pin, length);
    fprintf(log, "0x%lx\n", value);
    fclose(log);
    return value;
}

static CK_RV token_info(CK_SLOT_ID slot, CK_TOKEN_INFO *info)
{
    FILE *final = control("final", "r");
    const CK_RV value = module->C_GetTokenInfo(slot, info);
    if (final) info->flags |= CKF_USER_PIN_FINAL_TRY;
    if (final) fclose(final);
    return value;
}

static CK_RV sign(CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG size, CK_BYTE *signature, CK_ULONG *length)
{
    char text[32] = "";
    FILE *fault = control("sign", "r");
    if (fault && !fgets(text, sizeof text, fault)) text[0] = '\0';
    if (fault) fclose(fault);
    const CK_RV value = module->C_Sign(session, data, size, signature, length);
    if (!strncmp(text, "flip", 4) && !value) signature[*length / 2] ^= 1;
    return !strncmp(text, "0x", 2) ? strtoul(text, NULL, 16) : value;
}

CK_RV __attribute__((visibility("default"))) C_GetFunctionList(CK_FUNCTION_LIST **functions);
CK_RV C_GetFunctionList(CK_FUNCTION_LIST **functions)
{
    const char *path = getenv("FAULTY_MODULE");
    void *library = dlopen(path ? path : "libsofthsm2.so", RTLD_NOW);
    CK_RV (*get)(CK_FUNCTION_LIST **) = NULL;
    if (library) *(void **)&get = dlsym(library, "C_GetFunctionList");
    if (!get || get(&module)) return CKR_GENERAL_ERROR;
    list = *module;
    list.C_Login = log_in;
    list.C_GetTokenInfo = token_info;
    list.C_Sign = sign;
    *functions = &list;
    return CKR_OK;
}
