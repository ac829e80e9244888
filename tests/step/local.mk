# The walk at every instruction of a program, against libunwind and against the calls and returns
# that were seen to happen.
check_PROGRAMS += tests/step/step_test tests/step/target tests/step/plugin
TESTS += tests/step/step_test
if HCCT_X86_64
STEP_MACHINE = tests/step/registers_x86_64.c tests/step/shadow_x86_64.c
STEP_CODE = tests/step/bare_x86_64.c tests/step/faults_x86_64.c
STEP_CFLAGS = -fcf-protection
else
STEP_MACHINE = tests/step/registers_aarch64.c tests/step/shadow_aarch64.c
STEP_CODE = tests/step/bare_aarch64.c tests/step/faults_aarch64.c
STEP_CFLAGS =
endif

tests_step_step_test_SOURCES = \
	tests/step/images.c tests/step/images.h \
	tests/step/maps.c tests/step/maps.h \
	tests/step/memory.c tests/step/memory.h \
	tests/step/mirror.c tests/step/mirror.h \
	tests/step/registers.h \
	tests/step/remote.c tests/step/remote.h \
	tests/step/shadow.c tests/step/shadow.h tests/step/shadow_machine.h \
	tests/step/step_test.c \
	tests/step/tracee.c tests/step/tracee.h \
	tests/step/verdict.c tests/step/verdict.h \
	$(STEP_MACHINE) $(UNWIND_SOURCES)
tests_step_step_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS) $(UNWIND_LIBS)

tests_step_target_SOURCES = tests/step/target.cc tests/step/bare.c tests/step/shapes.h tests/step/shapes_fast.c \
	tests/step/shapes_plain.c tests/step/shapes_small.c tests/step/shapes_framed.c $(STEP_CODE)
tests_step_target_CFLAGS = $(TARGET_CFLAGS) $(STEP_CFLAGS) -fstack-clash-protection \
	-fstack-protector-strong
tests_step_target_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -pthread
# Functions are bound when they are called first: the dynamic linker at work is walked, too.
tests_step_target_LDFLAGS = -pthread -Wl,-z,lazy

tests_step_plugin_SOURCES = tests/step/plugin.c
tests_step_plugin_CFLAGS = $(TARGET_CFLAGS) -fPIC
tests_step_plugin_LDFLAGS = -shared -Wl,-z,now
